class A {
    [Fact]
    void B() {}
}
