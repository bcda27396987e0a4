module example.org/thing

go 1.18

require (
	github.com/confluentinc/confluent-kafka-go v1.9.2
	golang.org/x/text v0.14.0 // indirect
)
