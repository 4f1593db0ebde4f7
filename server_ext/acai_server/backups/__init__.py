"""All that a server keeps, or all of one project, as files: to be kept elsewhere, and to come back from there."""
