"""Our A2A client: lenient in what it reads, strict about what it costs and where it goes.

The SDK's client refuses correct agents over details (a timestamp without a time
zone, text in a place it does not look at), so an assessment talks to agents with this one.
"""
