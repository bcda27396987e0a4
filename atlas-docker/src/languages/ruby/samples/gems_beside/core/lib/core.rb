module Core; end
