"""What Burrow's API does not tell: everything at once, and why.

Names are given as parameters, so that any name can be asked for. Each operation is declared once,
in `operations`: its parameters as a Struct, its answer as a Struct. Requests are checked against
that, and the OpenAPI document is written from it.
"""
