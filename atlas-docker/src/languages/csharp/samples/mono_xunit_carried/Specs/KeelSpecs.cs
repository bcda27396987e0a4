using Xunit;
public class KeelSpecs
{
    [Fact]
    public void Floats() { }
}
