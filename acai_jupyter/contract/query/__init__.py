"""The query language of `find`, one grammar for every front end. Pure: text in, a tree out; `now` is an argument.

Read `parser.py` for the grammar, `tree.py` for what comes out of it. The server's `db/search.py` compiles the tree.
"""
