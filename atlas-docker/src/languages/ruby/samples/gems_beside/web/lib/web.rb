module Web; end
