using NUnit.Framework;
public class RopeTests
{
    [Test]
    public void Knots() { }
}
