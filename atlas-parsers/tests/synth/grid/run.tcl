#!/usr/bin/env tclsh
# A small test runner that prints a table: rows are types, columns are operations. `BREAK` in the
# environment breaks some of them. `TAP` names a file for the same results in TAP, as a second witness.
set broken [info exists env(BREAK)]
set ops {add sub mul div mod}
proc apply_op {type op} {
    global broken
    if {$type eq "float" && $op eq "mod"} { return skip }
    set a [expr {$type eq "float" ? 7.5 : 7}]
    set b [expr {$type eq "float" ? 2.5 : 2}]
    switch $op {
        add { expr {$a + $b == ($type eq "float" ? 10.0 : 9)} }
        sub { expr {$broken && $type eq "big" ? 0 : $a - $b > 0} }
        mul { expr {$broken && $type eq "int" ? 0 : $a * $b > $a} }
        div { if {$broken && $type eq "float"} { error "division: no unit" }; expr {$a / $b >= 3} }
        mod { expr {$a % $b == 1} }
    }
}
puts "arithmetic, by type"
puts ""
puts [format "%-8s%s" "" [join [lmap op $ops {format %6s $op}] ""]]
set notes {}
set tap [list "1..[expr {3 * [llength $ops]}]"]
set number 0
foreach type {int big float} {
    set cells {}
    foreach op $ops {
        if {[catch {apply_op $type $op} result]} { lappend notes "$type $op: $result"; set mark E
        } elseif {$result eq "skip"} { set mark s
        } elseif {$result} { set mark .
        } else { lappend notes "$type $op: wrong"; set mark F }
        lappend cells [format %6s $mark]
        set word [expr {$mark in {. s} ? "ok" : "not ok"}]
        lappend tap "$word [incr number] - $type $op[expr {$mark eq "s" ? " # SKIP" : ""}]"
    }
    puts [format "%-8s%s" $type [join $cells ""]]
}
puts ""
foreach note $notes { puts "  $note" }
puts "[llength $ops] columns, 3 rows, [llength $notes] of [expr {3 * [llength $ops]}] cells need a look"
if {[info exists env(TAP)]} { set out [open $env(TAP) w]; puts $out [join $tap \n]; close $out }
exit [expr {[llength $notes] > 0}]
