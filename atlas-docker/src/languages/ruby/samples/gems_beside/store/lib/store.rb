module Store; end
