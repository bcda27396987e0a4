"""Runs a module (`-m MODULE`) or a program as python does, and writes each result of unittest down beside the console,
as JUnit XML. The console has what it had."""

import os
import sys
import types


def listen():
    # Taken now: tests may put something else in the place of these, and of the variable.
    opened, wrote, closed, process = os.open, os.write, os.close, os.getpid
    folder, owner, text = os.environ.get("ATLAS_OUT"), os.getpid(), type("")
    if not folder:
        return
    import unittest

    place = os.path.join(os.path.abspath(folder), "junit.xml")
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND

    def append(line):
        # A forked process writes nothing.
        if process() != owner:
            return
        try:
            file = opened(place, flags, 0o666)
            try:
                wrote(file, line.encode("utf-8", "replace"))
            finally:
                closed(file)
        except OSError:
            pass  # The console has the result.

    def quoted(words):
        if isinstance(words, bytes):
            words = words.decode("utf-8", "replace")
        signs = ("&#%d;" % ord(sign) if sign in "&<>\"\t\n\r" else sign if sign >= " " else "?" for sign in words)
        return text("").join(signs)

    def note(test, verdict):
        append(text('<testcase name="%s">%s</testcase>\n') % (quoted(str(test)), verdict))

    result_class = unittest.TestResult
    subtest_class = getattr(unittest.case, "_SubTest", None)
    # The test that runs, its result, its name and what was said of it. What runs within it is not the suite's.
    running = []
    failed, skipped, passed = "<failure/>", "<skipped/>", ""
    worst = [failed, skipped, passed]

    def end():
        _, _, name, said = running.pop()
        if said:
            note(name, min(said, key=worst.index))

    def start(result, test):
        # A module that did not load is no test.
        if type(test).__module__ == "unittest.loader":
            return
        if running and running[0][0] is result:
            end()
        if not running:
            running.append((result, test, str(test), []))

    def say(verdict):
        def said(result, test, *_, **__):
            if subtest_class and isinstance(test, subtest_class):
                test = test.test_case
            if type(test).__module__ == "unittest.loader":
                return
            if not running:
                # A class or a module that does not begin, or a result that tells no beginnings.
                note(test, verdict)
            elif running[0][0] is result and running[0][1] is test:
                running[0][3].append(verdict)

        return said

    def subtest(result, test, _, problem):
        if problem is not None:
            say(failed)(result, test)

    def stop(result, test):
        if running and running[0][0] is result and running[0][1] is test:
            end()

    def watch(name, seen):
        kept = getattr(result_class, name, None)
        if kept is None:
            return

        def watched(self, *args, **kwargs):
            seen(self, *args, **kwargs)
            return kept(self, *args, **kwargs)

        watched.__name__, watched.__doc__ = kept.__name__, kept.__doc__
        setattr(result_class, name, watched)

    for name, seen in [
        ("startTest", start),
        ("stopTest", stop),
        ("addSubTest", subtest),
        ("addSuccess", say(passed)),
        ("addFailure", say(failed)),
        ("addError", say(failed)),
        ("addUnexpectedSuccess", say(passed)),
        ("addSkip", say(skipped)),
        ("addExpectedFailure", say(skipped)),
    ]:
        watch(name, seen)
    append("<testsuite>\n")


def run():
    del sys.argv[0]
    if sys.argv[0] == "-m":
        import runpy

        del sys.argv[0]
        sys.path[0] = os.getcwd()
        runpy._run_module_as_main(sys.argv[0])
        return
    file = sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(file))
    # As python names its program since 3.9.
    if sys.version_info >= (3, 9):
        file = os.path.abspath(file)
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=file, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    with open(file, "rb") as source:
        code = compile(source.read(), file, "exec", dont_inherit=True)
    exec(code, module.__dict__)


def main():
    # The module that runs gets the globals of this file.
    own, system = main.__code__.co_filename, sys
    try:
        run()
    except Exception:
        kind, problem, trace = system.exc_info()
        while trace and trace.tb_frame.f_code.co_filename == own:
            trace = trace.tb_next
        if hasattr(problem, "with_traceback"):
            problem = problem.with_traceback(trace)
        system.excepthook(kind, problem, trace)
        system.exit(1)


listen()
main()
