module github.com/onsi/ginkgo/v2

go 1.23
