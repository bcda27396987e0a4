class Grammar
rule
  all: NUMBER
end
