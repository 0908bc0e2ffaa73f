class RepoMap:
    TAGS_CACHE_DIR = ".aider.tags.cache.v4"
