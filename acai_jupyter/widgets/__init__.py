"""Views in a notebook for front ends without our JupyterLab extension: ipywidgets over plain view-models."""
