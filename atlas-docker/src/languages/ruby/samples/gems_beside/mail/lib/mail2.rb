module Mail2; end
