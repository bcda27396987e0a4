class HiddenTest {}
