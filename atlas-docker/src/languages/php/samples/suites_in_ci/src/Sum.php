<?php namespace Acme; class Sum {}
