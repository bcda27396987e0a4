# Fetches what a Gradle build's tests need, by a call of Gradle: the arguments. A build that cannot
# even be configured has no tasks; a module that does not compile is for the tests to tell. A second
# try, as a fetch may have failed.
"$@" --dry-run > /dev/null || exit
export ATLAS_RESOLVE=1
"$@" || { sleep 20; "$@"; } || echo 'atlas: not every module compiles'
