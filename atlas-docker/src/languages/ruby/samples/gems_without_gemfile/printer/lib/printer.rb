module Printer; end
