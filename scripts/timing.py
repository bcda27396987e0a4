"""What a command takes of the machine."""
import os
import subprocess
import sys

# The system counts the memory of whoever starts a process as that process's peak until its program is loaded,
# so a process with little memory of its own starts it. It prints to the pipe whose number is its first argument.
START = """
import os, sys, time
command = sys.argv[2:]
start = time.perf_counter()
process = os.posix_spawnp(command[0], command, os.environ)
_, status, usage = os.wait4(process, 0)
wall = time.perf_counter() - start
cpu = usage.ru_utime + usage.ru_stime
told = f"{wall} {cpu} {usage.ru_maxrss} {os.waitstatus_to_exitcode(status)}"
os.write(int(sys.argv[1]), told.encode())
"""


def timed(command, **options):
    """Wall seconds, processor seconds and peak bytes of a process and its children; its exit code.

    A peak below some 10 MB is that of the process that started it.
    """
    read, write = os.pipe()
    launcher = [sys.executable, "-I", "-S", "-c", START, str(write), *map(str, command)]
    try:
        subprocess.run(launcher, pass_fds=[write], check=True, **options)
    finally:
        os.close(write)
    with os.fdopen(read) as told:
        wall, cpu, peak, code = told.read().split()
    return float(wall), float(cpu), int(peak) * (1 if sys.platform == "darwin" else 1024), int(code)
