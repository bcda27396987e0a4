using NUnit.Framework;
[TestFixture]
public class WickTests
{
    [Test]
    public void Burns() { }
}
