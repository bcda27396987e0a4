// Lets `node --test` write everything before a file ends by its own `process.exit`: where its output is read slowly,
// the last results would be lost with the buffers that hold them.
'use strict'
const { stdout } = process
if (stdout._handle && stdout._handle.setBlocking) stdout._handle.setBlocking(true)
// The runner itself, told by the project to force the end, has nothing left that could keep it; where it runs the
// tests in its own process, a server that one of them left open could, so it waits for two seconds at most.
if (!process.env.NODE_TEST_CONTEXT) {
  const { exit } = process
  process.exit = (code) => {
    const caller = String(new Error().stack).split('\n')[2]
    if (!/node:internal\/test_runner\//.test(caller)) exit(code)
    if (code !== undefined) process.exitCode = code
    setTimeout(exit, 2000).unref()
  }
}
