"""The small program that runs beside the user's command inside an attempt. Standard library only, Python 3.8.

It reads its launch document, fetches code and inputs, runs the command, keeps its output, and leaves a result record.
It calls nobody: it speaks by marked lines among the log, and the server finds the rest in the object store.
"""
