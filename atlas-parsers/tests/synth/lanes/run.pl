#!/usr/bin/perl
# A small test runner in the manner of Lua's: suites with a header, dots up to the outcome, counts
# for each suite. `BREAK=1` breaks two of the functions under test.
use strict; use warnings; $| = 1;
my $break = $ENV{BREAK};
my (%count, $suite);
sub suite { my ($name, $body) = @_; $suite = $name; %count = (pass => 0, fail => 0, skip => 0);
  print "== suite: $name ==\n"; $body->();
  my $all = $count{pass} + $count{fail} + $count{skip};
  print "-- $name: $all tests, $count{pass} pass, $count{fail} fail, $count{skip} skip\n\n"; }
sub it { my ($name, $body) = @_; my $dots = '.' x (38 - length $name);
  my $why = eval { $body->() }; my $died = $@;
  if (defined $why && $why eq 'skip') { $count{skip}++; print "  * $name $dots skip\n"; return }
  if (!$died && $why) { $count{pass}++; print "  * $name $dots pass (0.", length $name, "ms)\n"; return }
  $count{fail}++; my $label = $died ? 'CRASH' : 'FAIL'; $died =~ s/ at \S+ line \d+\.\n//;
  print "  * $name $dots $label (0.", length $name, "ms)\n";
  print "      ", ($died || 'expected true, got false'), "\n"; }
sub trim { my $t = shift; return $t if $break; $t =~ s/^\s+|\s+$//g; $t }
sub joined { die "joined: no list\n" if $break; join ',', @_ }
suite 'strings', sub {
  it 'trims blanks' => sub { trim('  a ') eq 'a' };
  it 'keeps inner blanks' => sub { trim('a b') eq 'a b' };
  it 'trims tabs, too' => sub { print "    (debug) FAIL is only a word here\n"; trim("\ta") eq 'a' };
  it 'upper case of eszett' => sub { 'skip' };
  it 'length' => sub { length('abc') == 3 };
};
suite 'lists', sub {
  it 'joins with commas' => sub { joined(1, 2) eq '1,2' };
  it 'joins nothing' => sub { joined() eq '' };
  it 'length' => sub { my @a = (1, 2); @a == 2 };
  it 'sorts' => sub { join('', sort 3, 1, 2) eq '123' };
  it 'sorts in place' => sub { 'skip' };
};
print "all lanes done\n"; 
