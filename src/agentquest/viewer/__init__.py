"""Web pages over a folder of runs: what agents did, live and side by side.

Server-rendered, with one small script; nothing comes from elsewhere and nothing
of a record is ever unescaped.
"""
