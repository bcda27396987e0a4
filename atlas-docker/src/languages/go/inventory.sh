printf 'tool\tgo\t%s\n' "$(go env GOVERSION 2>/dev/null || go version)"
{ go list -m -f '{{if not .Main}}{{.Path}} {{.Version}}{{end}}' all 2>/dev/null || awk '$2 !~ /\/go.mod$/ {print $1, $2}' go.sum 2>/dev/null; } |
  sed -n '/./s/^/dependency\t/p'
exit 0
