using NUnit.Framework;
[TestFixture]
public class PierTests
{
    [Test]
    public void Holds() { new Pier(); }
}
