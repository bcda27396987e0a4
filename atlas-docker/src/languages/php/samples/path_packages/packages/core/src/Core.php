<?php namespace Acme\Core; class Core {}
