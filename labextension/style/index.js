import './base.css';
import './overview.css';
import './jobs.css';
import './job.css';
import './cells.css';
import './form.css';
import './provenance.css';
import './data.css';
