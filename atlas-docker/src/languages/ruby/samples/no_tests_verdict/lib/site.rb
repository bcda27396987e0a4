module Site; end
