"""What Burrow's API lacks: all groups in one answer, and the reason for each verdict.

Names are query parameters, so that any name can be requested. Each operation is declared once, in
`operations`: its parameters as a Struct, its answer as a Struct. Requests are checked against the
declaration, and the OpenAPI document is written from it.
"""
