"""Pull: worker processes answer HTTP requests from the board.

`http.listeners.bind` opens the sockets and `http.workers.start` starts the workers.
`Serving.publish` writes the board into shared memory (`board_file.writer`, `packed_arrays`,
`commits_file`) and sends the files to each worker (`http.channel`). A worker (`http.worker`) maps
them (`board_file.board_view`), finds the handler of a request (`http.dispatch`, `http.routes`) and
answers (`v2`, `v3`, `v4`, `metrics`, …). What a request changes, and history, goes back over the
channel to the pipeline (`http.workers.Actions`).
"""
