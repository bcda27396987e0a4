module Queue2; end
