<?php class BridgeTest extends PHPUnit\Framework\TestCase {}
