class SampleTest {}
