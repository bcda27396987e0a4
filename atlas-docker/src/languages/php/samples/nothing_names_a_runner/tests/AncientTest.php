<?php
class AncientTest extends PHPUnit_Framework_TestCase {}
