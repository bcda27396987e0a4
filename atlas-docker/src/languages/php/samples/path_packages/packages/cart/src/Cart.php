<?php namespace Acme\Cart; class Cart {}
