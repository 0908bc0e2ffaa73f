package hooks

// Hash is hash, for records of older versions.
var Hash = hash
