<?php namespace Acme\Cache; class Cache {}
