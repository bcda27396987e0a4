#!/usr/bin/env bash
# Starts a test program of `go test -exec`. One that runs specs of Ginkgo names each of them, with the same seed
# every time; GINKGO_SEED is another. It orders the outer containers, as Ginkgo itself does in each run. Programs
# without Ginkgo do not know its flags.
program=$1
shift
if LC_ALL=C grep -qaE 'onsi/ginkgo(/v2)?\.RunSpecs' "$program"; then
  set -- -ginkgo.v "-ginkgo.seed=${GINKGO_SEED:-1}" "$@"
fi
exec "$program" "$@"
