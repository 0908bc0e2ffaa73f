package container

const defaultHost = "npipe:////./pipe/docker_engine"
