module Parser; end
