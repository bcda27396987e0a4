from xdist.scheduler import LoadScopeScheduling
