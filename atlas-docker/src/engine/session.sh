# Runs the steps of a session. Each comes as a line: its number, its seconds, most bytes of its output, and
# the command in base64. Each is answered with a line of numbers and then so many bytes.
own=$(mktemp -d) || exit 125
while read -r number seconds most text; do
  # A command may have removed temporary files, and a process that it left may still print into its own.
  mkdir -p "$own"
  base64 -d <<<"$text" >"$own/$number"
  timeout -s KILL "$seconds" bash "$own/$number" </dev/null >"$own/$number.out" 2>&1
  code=$?
  total=$(stat -c %s "$own/$number.out" 2>/dev/null)
  head -c "$most" "$own/$number.out" >"$own/$number.kept" 2>/dev/null
  kept=$(stat -c %s "$own/$number.kept" 2>/dev/null)
  # Once the answer is out nothing changes any more: the session may be copied.
  if ! {
    rm -f "$own/$number" "$own/$number.out" "$own/$number.kept"
    printf '\001atlas: step %s %s %s %s\n' "$number" "$code" "${total:-0}" "${kept:-0}"
    test "${kept:-0}" = 0 || cat <&8
    true
  } 8<"$own/$number.kept"; then
    printf '\001atlas: step %s %s %s 0\n' "$number" "$code" "${total:-0}"
  fi
done
