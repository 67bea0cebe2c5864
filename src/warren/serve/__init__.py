"""Pull: what is asked over HTTP, answered from the board by processes of their own.

`listeners.bind` opens the sockets, `serving.start` the workers. `Serving.publish` writes the board
into shared memory (`writer`, `packed`, `commits_file`) and tells each worker (`channel`). A worker
(`worker`) maps it (`view`), finds the handler of a request (`routes`), and answers (`v3`,
`metrics`, …). What a request changes goes back over the channel for the pipeline to do (`actions`).
"""
