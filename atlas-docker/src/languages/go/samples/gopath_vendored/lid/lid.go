package lid

func New() int { return 1 }
