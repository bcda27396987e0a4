// Package ginkgo runs nothing.
package ginkgo

import "fmt"

func Fail(string, ...int)                   {}
func Describe(string, func()) bool          { return true }
func Context(string, func()) bool           { return true }
func It(string, func()) bool                { return true }
func RunSpecs(t any, name string) bool {
	fmt.Println("Running Suite:", name)
	return true
}
