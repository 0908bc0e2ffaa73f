package session

// fileID has no cheap answer here; the path alone decides.
func fileID(string) string { return "" }
